/** Splits a text with `code` into alternating parts: text, code, text, … An unmatched backtick is literal. */
export function codeParts(text: string): readonly string[] {
  const parts = text.split("`");
  if (parts.length % 2 === 1) return parts;
  const last = parts.pop() ?? "";
  const before = parts.pop() ?? "";
  return [...parts, `${before}\`${last}`];
}
