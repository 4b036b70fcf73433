// Formatting of numbers and names.

const whole = new Intl.NumberFormat("en-GB");

export const count = (n) => whole.format(n);
export const several = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** 0.1234 → "12.3 %", 0.00012 → "0.012 %". */
export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value === 0) return "0 %";
  if (value >= 10) return `${value.toFixed(value >= 99.95 ? 0 : 1)} %`;
  return `${value >= 0.1 ? value.toFixed(1) : value.toPrecision(1)} %`;
}

/** Whether a topic has a meaningful name: set by a user, a label, or "background 1". */
export const hasName = (topic) => topic.named || !topic.words?.length || !/^topic \d+$/.test(topic.name);

/** Title of a topic: its name if it has one, otherwise its top words. */
export const title = (topic) => (hasName(topic) ? topic.name : topic.words.slice(0, 3).join(" "));

/** Capitalize a message of the server. */
export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1);

/** "de" → "German". */
export function spokenLanguage(code) {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(code) ?? code;
  } catch {
    return code; // not a language code
  }
}
