// Pushes overlapping circles apart with minimal moves.

/** circles: {x, y, r}; moves them within a width and height, deterministically. */
export function spread(circles, width, height) {
  const rounds = circles.length > 400 ? 12 : 120; // of many circles each is small
  for (let round = 0; round < rounds; round++) {
    let moved = false;
    for (let i = 0; i < circles.length; i++) {
      for (let j = 0; j < i; j++) moved = part(circles[i], circles[j], i + j) || moved;
    }
    for (const circle of circles) {
      circle.x = Math.min(Math.max(circle.x, circle.r + 3), width - circle.r - 3);
      circle.y = Math.min(Math.max(circle.y, circle.r + 3), height - circle.r - 3);
    }
    if (!moved) return;
  }
}

function part(a, b, seed) {
  let [dx, dy] = [a.x - b.x, a.y - b.y];
  let far = Math.hypot(dx, dy);
  const wanted = a.r + b.r + 2;
  if (far >= wanted) return false;
  if (far < 1e-6) [dx, dy, far] = [Math.cos(seed), Math.sin(seed), 1]; // at the same position any direction will do
  const push = (wanted - Math.min(far, wanted)) / 2 / far;
  const light = (b.r * b.r) / (a.r * a.r + b.r * b.r); // the larger one moves less
  a.x += dx * push * 2 * light;
  a.y += dy * push * 2 * light;
  b.x -= dx * push * 2 * (1 - light);
  b.y -= dy * push * 2 * (1 - light);
  return true;
}
