import { useSyncExternalStore } from "react";
import type { AutoSaver } from "../editor/autosave";
import { defineMessages } from "../i18n/messages";
import { Button } from "../ui";

const t = defineMessages("saving", {
  saved: "Saved",
  changed: "Unsaved changes",
  saving: "Saving …",
  waiting: "Not saved, retrying",
  "signed-out": "Sign in to save",
  conflict: "Save conflict",
  refused: "Not saved",
  now: "Save now",
  resolve: "Resolve",
});

/** Save state, always visible. */
export function SaveBadge({ saver, onResolve }: { saver: AutoSaver; onResolve: () => void }) {
  const state = useSyncExternalStore(saver.subscribe, saver.get);
  const isBad =
    state.kind === "conflict" || state.kind === "refused" || state.kind === "waiting" || state.kind === "signed-out";
  return (
    <span className="hf-save" role="status" data-kind={state.kind} title={"why" in state ? state.why : undefined}>
      <i aria-hidden="true" />
      <span>{t(state.kind)}</span>
      {state.kind === "conflict" ? (
        <Button small onClick={onResolve}>
          {t("resolve")}
        </Button>
      ) : isBad ? (
        <Button small onClick={() => void saver.resume()}>
          {t("now")}
        </Button>
      ) : null}
    </span>
  );
}
