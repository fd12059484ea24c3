/**
 * One WebSocket for all subscriptions. The server sends the state first and then each change with its version, so a
 * subscriber
 * misses nothing between reading and subscribing. After a reconnect, a subscription resumes from its last version.
 */
import { liveAddress } from "./config";
import { accessToken } from "./session";

export type LiveMessage = { id: string; kind: "state" | "change" | "error"; version?: number; data?: unknown };

type Topic = "instance" | "definition" | "instances";

type Watch = {
  id: string;
  topic: Topic;
  key: string | null;
  after: number | null;
  onMessage: (message: LiveMessage) => void;
};

const watches = new Map<string, Watch>();
let socket: WebSocket | null = null;
let attempts = 0;
let last = 0;
let timer: ReturnType<typeof setTimeout> | null = null;

/** Calls `onMessage` for the state and each change. Returns a function that unsubscribes. */
export function watch(topic: Topic, key: string | null, onMessage: (message: LiveMessage) => void): () => void {
  last += 1;
  const one: Watch = { id: `s${last}`, topic, key, after: null, onMessage };
  watches.set(one.id, one);
  if (socket?.readyState === WebSocket.OPEN) subscribe(socket, one);
  else connect();
  return () => {
    watches.delete(one.id);
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ op: "unsubscribe", id: one.id }));
    if (watches.size === 0) {
      socket?.close();
      socket = null;
    }
  };
}

const subscribe = (to: WebSocket, { id, topic, key, after }: Watch): void =>
  to.send(
    JSON.stringify({ op: "subscribe", id, topic, ...(key ? { key } : {}), ...(after === null ? {} : { after }) }),
  );

function connect(): void {
  if (socket && socket.readyState <= WebSocket.OPEN) return;
  const current = new WebSocket(liveAddress("/api/live"));
  socket = current;
  current.onopen = () => {
    attempts = 0;
    // The token is sent as the first message and not in the URL, because URLs are logged.
    const token = accessToken();
    if (token) current.send(JSON.stringify({ op: "auth", token }));
    for (const one of watches.values()) subscribe(current, one);
  };
  current.onmessage = (event) => receive(current, JSON.parse(String(event.data)) as LiveMessage & { op?: string });
  current.onclose = () => {
    if (socket === current) socket = null;
    if (watches.size === 0) return;
    attempts += 1;
    if (timer) clearTimeout(timer);
    timer = setTimeout(connect, Math.min(15_000, 500 * 2 ** attempts));
  };
}

function receive(from: WebSocket, message: LiveMessage & { op?: string }): void {
  if (message.op === "ping") {
    from.send(JSON.stringify({ op: "pong" }));
    return;
  }
  const one = watches.get(message.id);
  if (!one) return;
  if (message.version !== undefined) one.after = message.version;
  one.onMessage(message);
}
