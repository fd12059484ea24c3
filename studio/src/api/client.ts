/** HTTP client: JSON, access token, problem details as errors, and retry after a new sign-in. */
import { address } from "./config";
import { ApiError, errorOf } from "./errors";
import { accessToken, renew } from "./session";

export type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>;

export type RequestOptions = {
  query?: Query;
  body?: unknown;
  form?: FormData;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export function withQuery(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? (value as string[]) : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text ? `${path}?${text}` : path;
}

/** Sends a request and returns the raw response, for downloads and ETags. Throws `ApiError` for failures. */
export async function request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  for (;;) {
    const token = accessToken();
    const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
    if (token) headers.Authorization = `Bearer ${token}`;
    if (options.body !== undefined) headers["Content-Type"] ??= "application/json";
    const init: RequestInit = { method, headers };
    if (options.form) init.body = options.form;
    else if (options.body !== undefined)
      init.body = typeof options.body === "string" ? options.body : JSON.stringify(options.body);
    if (options.signal) init.signal = options.signal;
    const response = await fetch(address(withQuery(path, options.query)), init).catch((error: unknown) => {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ApiError(
        0,
        "network",
        "The server cannot be reached. Check that it is running. Your input is not lost.",
      );
    });
    if (response.status === 401) {
      await renew(token);
      continue;
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

async function json<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
  const response = await request(method, path, options);
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
    json<T>("GET", path, { ...(query ? { query } : {}), ...(signal ? { signal } : {}) }),
  post: <T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> =>
    json<T>("POST", path, { ...options, body: body ?? {} }),
  put: <T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> =>
    json<T>("PUT", path, { ...options, body }),
  patch: <T>(path: string, body?: unknown): Promise<T> => json<T>("PATCH", path, { body }),
  delete: <T>(path: string): Promise<T> => json<T>("DELETE", path),
  upload: <T>(path: string, form: FormData): Promise<T> => json<T>("POST", path, { form }),
};

/** Downloads a file in the browser. */
export function download(name: string, content: Blob | string, type = "application/json"): void {
  const url = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
