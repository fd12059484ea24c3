import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type LiveMessage, watch } from "../api/live";

/** Refetches instance lists when the server reports a change, at most every `pause` ms. */
export function useLiveList(pause = 500): void {
  const client = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const stop = watch("instances", null, (message) => {
      if (message.kind !== "change" || timer) return;
      timer = setTimeout(() => {
        timer = null;
        void client.invalidateQueries({ queryKey: ["instances", "list"] });
        void client.invalidateQueries({ queryKey: ["instances", "counts"] });
      }, pause);
    });
    return () => {
      stop();
      if (timer) clearTimeout(timer);
    };
  }, [client, pause]);
}

/** Follows one instance and refetches its queries after each commit. */
export function useLiveInstance(id: string): { version: number | null; connected: boolean } {
  const client = useQueryClient();
  const [seen, setSeen] = useState<{ version: number | null; connected: boolean }>({ version: null, connected: false });
  useEffect(() => {
    let first = true;
    return watch("instance", id, (message: LiveMessage) => {
      if (message.kind === "error") return;
      setSeen({ version: message.version ?? null, connected: true });
      // The initial state is as recent as the page itself.
      if (message.kind === "change" || !first) {
        for (const part of ["one", "journal", "executions", "incidents", "children"])
          void client.invalidateQueries({ queryKey: ["instances", part, id] });
        void client.invalidateQueries({ queryKey: ["tasks"] });
      }
      first = false;
    });
  }, [client, id]);
  return seen;
}
