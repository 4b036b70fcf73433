// Light, dark or system theme, stored in this browser.

const KEY = "semascope-theme";
const NEXT = { auto: "light", light: "dark", dark: "auto" };
const SIGN = { auto: "◐", light: "☀", dark: "☾" };

export function themeButton(button) {
  const set = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = SIGN[theme];
    button.title = `Colors: ${theme === "auto" ? "system" : theme}`;
    button.setAttribute("aria-label", button.title);
    button.onclick = () => {
      keep(NEXT[theme]);
      set(NEXT[theme]);
    };
  };
  set(kept());
}

function kept() {
  try {
    return localStorage.getItem(KEY) in NEXT ? localStorage.getItem(KEY) : "auto";
  } catch {
    return "auto"; // storage is not allowed
  }
}

function keep(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then it lasts until the page is closed
  }
}
