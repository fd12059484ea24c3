/**
 * Session of the signed-in user. A request with status 401 first uses the refresh token, once for all waiting
 * requests. If that
 * fails, it opens the sign-in dialog above the current page and waits. The request is then repeated automatically.
 */
import { create } from "zustand";
import { address } from "./config";
import { ApiError, errorOf } from "./errors";
import type { Me } from "./types";

const KEY = "holdfast.session";

type Tokens = { access_token: string; refresh_token: string | null };

type Session = { tokens: Tokens | null; me: Me | null; signInNeeded: boolean; open: boolean };

const stored = (): Tokens | null => {
  const text = localStorage.getItem(KEY);
  if (!text) return null;
  try {
    return JSON.parse(text) as Tokens;
  } catch {
    localStorage.removeItem(KEY);
    return null;
  }
};

export const useSession = create<Session>(() => ({ tokens: stored(), me: null, signInNeeded: false, open: false }));

const storeTokens = (tokens: Tokens | null): void => {
  if (tokens) localStorage.setItem(KEY, JSON.stringify(tokens));
  else localStorage.removeItem(KEY);
  useSession.setState({ tokens });
};

export const accessToken = (): string | null => useSession.getState().tokens?.access_token ?? null;

let waiting: (() => void)[] = [];
let refreshing: Promise<boolean> | null = null;

/** Resolves when a token newer than `used` is available. */
export async function renew(used: string | null): Promise<void> {
  if (accessToken() !== used) return;
  refreshing ??= refresh().finally(() => {
    refreshing = null;
  });
  if (await refreshing) return;
  useSession.setState({ signInNeeded: true });
  await new Promise<void>((resolve) => waiting.push(resolve));
}

async function refresh(): Promise<boolean> {
  const token = useSession.getState().tokens?.refresh_token;
  if (!token) return false;
  const answer = await post("/api/auth/refresh", { refresh_token: token }).catch(() => null);
  if (!answer?.ok) {
    storeTokens(null);
    return false;
  }
  storeTokens(tokensOf(await answer.json()));
  return true;
}

const tokensOf = (response: unknown): Tokens => {
  const { access_token, refresh_token } = response as Tokens;
  return { access_token, refresh_token: refresh_token ?? null };
};

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(address(path), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export async function signIn(user: string, password: string): Promise<void> {
  const answer = await post("/api/auth/login", { user, password }).catch(() => {
    throw new ApiError(0, "network", "The server cannot be reached.");
  });
  if (!answer.ok) throw await errorOf(answer);
  storeTokens(tokensOf(await answer.json()));
  await loadMe();
  useSession.setState({ signInNeeded: false });
  const resume = waiting;
  waiting = [];
  for (const go of resume) go();
}

export async function signOut(): Promise<void> {
  const tokens = useSession.getState().tokens;
  storeTokens(null);
  if (tokens) {
    await fetch(address("/api/auth/logout"), {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${tokens.access_token}` },
      body: JSON.stringify({ refresh_token: tokens.refresh_token }),
    }).catch(() => null);
  }
  location.assign(document.baseURI);
}

/** The server ends all sessions of the user, so a new one is opened here. */
export async function changePassword(current: string, password: string): Promise<void> {
  if (!(await loadMe())) return;
  const { me, tokens } = useSession.getState();
  const answer = await fetch(address("/api/auth/password"), {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${tokens?.access_token ?? ""}` },
    body: JSON.stringify({ current, password }),
  });
  if (!answer.ok) throw await errorOf(answer);
  await signIn(me?.id ?? "", password);
}

/**
 * Loads the current user. Returns false if no user is signed in. A server without accounts returns an anonymous user.
 */
export async function loadMe(): Promise<boolean> {
  const token = accessToken();
  const answer = await fetch(address("/api/auth/me"), token ? { headers: { Authorization: `Bearer ${token}` } } : {});
  if (answer.status === 401) {
    if (token && (await refresh())) return loadMe();
    useSession.setState({ signInNeeded: true, me: null });
    return false;
  }
  if (!answer.ok) throw await errorOf(answer);
  useSession.setState({ me: (await answer.json()) as Me });
  return true;
}

/** Whether the user has a permission. Actions without permission are not shown. */
export function useCan(): (permission: string) => boolean {
  const permissions = useSession((session) => session.me?.permissions);
  return (permission) => allowed(permissions ?? [], permission);
}

export const allowed = (permissions: readonly string[], wanted: string): boolean =>
  permissions.includes("*") || permissions.includes(wanted) || permissions.includes(`${wanted.split(":")[0]}:*`);
