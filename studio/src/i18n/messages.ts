/**
 * User-visible messages by key. Each module defines its English texts with `defineMessages("area", {...})` and gets a
 * typed
 * `t("key", values)`. A translation is a flat table `area.key → text`, activated by `translate`.
 *
 * `{name}` is a placeholder, and `{n|definition|definitions}` selects singular or plural.
 */
type Values = Record<string, string | number>;

const translations = new Map<string, string>();
const english = new Map<string, string>();

/** Activates a translation. Missing texts stay English. */
export function translate(table: Record<string, string>): void {
  translations.clear();
  for (const [key, sentence] of Object.entries(table)) translations.set(key, sentence);
}

/** All English texts defined so far, as the source for translators. */
export const englishMessages = (): Record<string, string> => Object.fromEntries(english);

export function defineMessages<Keys extends string>(
  area: string,
  table: Record<Keys, string>,
): (key: Keys, values?: Values) => string {
  for (const [key, sentence] of Object.entries<string>(table)) english.set(`${area}.${key}`, sentence);
  return (key, values) => fill(translations.get(`${area}.${key}`) ?? table[key], values ?? {});
}

export function fill(sentence: string, values: Values): string {
  return sentence.replace(/\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (one === undefined || many === undefined) return String(value);
    return `${value} ${Number(value) === 1 ? one : many}`;
  });
}
