/**
 * What the Studio says, by keys. Each area keeps its own English englishMessages beside its code with `defineMessages("area", {...})`
 * and gets a typed `t("key", values)`; a translation is one flat table `area.key → sentence`, put in by `translate`.
 *
 * In a sentence, `{name}` is a value and `{n|definition|definitions}` chooses by number.
 */
type Values = Record<string, string | number>;

const translations = new Map<string, string>();
const english = new Map<string, string>();

/** Puts in a language. Sentences that it lacks stay English. */
export function translate(table: Record<string, string>): void {
  translations.clear();
  for (const [key, sentence] of Object.entries(table)) translations.set(key, sentence);
}

/** Every English sentence known so far: what a translator starts from. */
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
