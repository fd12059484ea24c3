import { codeParts } from "./codeParts";

/** What the server says of a setting or an input: `code` in it is shown as code. */
export function TextWithCode({ text }: { text: string }) {
  return <>{codeParts(text).map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
