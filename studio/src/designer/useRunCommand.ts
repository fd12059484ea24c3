/** Runs an edit command, and shows the reason if it is refused. Returns whether the command ran. */

import { useCallback } from "react";
import type { Command } from "../editor/command";
import { useEditorSession } from "../editor/useEditor";
import { toast } from "../ui";

export type RunCommand = (command: Command) => boolean;

export function useRunCommand(): RunCommand {
  const session = useEditorSession();
  return useCallback(
    (command) => {
      const verdict = session.run(command);
      if (!verdict.ok) toast.done(verdict.why);
      return verdict.ok;
    },
    [session],
  );
}
