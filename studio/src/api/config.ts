/**
 * Location of the API. The server that serves the Studio also serves `config.json` beside it. A Studio on another
 * origin has its
 * own file with the URL of the server. `plugins` are ES modules to load before the first page.
 */
export type Config = { api: string; plugins: string[] };

let current: Config = { api: "", plugins: [] };

/** Base path of the Studio, from the `<base>` of the page: `/` or `/somewhere/`. */
export const basePath = (): string => new URL(document.baseURI).pathname;

export async function loadConfig(): Promise<Config> {
  const answer = await fetch(new URL("config.json", document.baseURI)).catch(() => null);
  if (answer?.ok && answer.headers.get("content-type")?.includes("json")) {
    const response = (await answer.json()) as Partial<Config>;
    current = { api: response.api ?? "", plugins: response.plugins ?? [] };
  }
  return current;
}

/** Full URL of an API path. */
export function address(path: string): string {
  const root = current.api ? current.api.replace(/\/$/, "") : basePath().replace(/\/$/, "");
  return root + path;
}

export function liveAddress(path: string): string {
  const url = new URL(address(path), location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.toString();
}
