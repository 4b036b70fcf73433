// "1987", "1987-03" and "1987-03-12" as positions on a time axis.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Years since 0, as a number. */
export function when(period) {
  const [year, month = 1, day = 1] = period.split("-").map(Number);
  return year + (month - 1) / 12 + (day - 1) / 372;
}

/** "Mar 1987", as far as known. */
export function spoken(period) {
  const [year, month, day] = period.split("-");
  const name = month && (MONTHS[Number(month) - 1] ?? month);
  return [day && String(Number(day)), name, year].filter(Boolean).join(" ");
}
