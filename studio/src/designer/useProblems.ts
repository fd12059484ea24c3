/** Problems while typing: client-side at once, server-side after a short delay. */

import { useEffect, useMemo, useState } from "react";
import type { Catalogue } from "../model/descriptors";
import type { Definition } from "../model/document";
import { mergeProblems, type ServerAnswer, type Worst, worstByActivity } from "../model/problems";
import { type Problem, validate } from "../model/validate";
import { useDebounced } from "../ui/useDebounced";
import { validateOnServer } from "./designerApi";

export function useProblems(
  document: Definition,
  catalogue: Catalogue,
  isOn: boolean,
): { problems: readonly Problem[]; worst: ReadonlyMap<string, Worst> } {
  const looked = useDebounced(document, 150);
  const sent = useDebounced(document, 700);
  const [answer, setAnswer] = useState<ServerAnswer | null>(null);
  useEffect(() => {
    if (!isOn) return undefined;
    const stop = new AbortController();
    validateOnServer(sent, stop.signal).then(
      (problems) => setAnswer({ document: sent, problems }),
      () => undefined, // Without a response the client-side rules apply.
    );
    return () => stop.abort();
  }, [sent, isOn]);
  const problems = useMemo(
    () => (isOn ? mergeProblems(looked, validate(looked, catalogue), answer) : []),
    [looked, catalogue, answer, isOn],
  );
  const worst = useMemo(() => worstByActivity(problems), [problems]);
  return { problems, worst };
}
