/** A text with `code` in it, as alternating pieces: plain, code, plain, … An open backtick is a character like any other. */
export function codeParts(text: string): readonly string[] {
  const parts = text.split("`");
  if (parts.length % 2 === 1) return parts;
  const last = parts.pop() ?? "";
  const before = parts.pop() ?? "";
  return [...parts, `${before}\`${last}`];
}
