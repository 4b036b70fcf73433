// Numbers and names as people read them.

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

/** Whether a topic has a name that tells something: one that people gave, a label, or "background 1". */
export const hasName = (topic) => topic.named || !topic.words?.length || !/^topic \d+$/.test(topic.name);

/** What a topic is called: its name if it has one, its first words otherwise. */
export const title = (topic) => (hasName(topic) ? topic.name : topic.words.slice(0, 3).join(" "));

/** Servers' sentences begin with a small letter. */
export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1);

/** "de" → "German". */
export function spokenLanguage(code) {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(code) ?? code;
  } catch {
    return code; // not a code of a language
  }
}
