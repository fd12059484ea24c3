/** Links from an activity to the workflow that it starts or represents. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { definitions } from "../api/queries";
import type { DefinitionSummary } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Interpolate } from "../ui";

const t = defineMessages("workflow-links", {
  open: "Open",
  openNamed: "Open {name}",
  is: "This activity runs the workflow {name}.",
});

/** Finds a workflow by id or by name. */
export function findWorkflow<One extends Pick<DefinitionSummary, "id" | "name">>(
  items: readonly One[],
  reference: string,
): One | undefined {
  if (reference === "") return undefined;
  return items.find((item) => item.id === reference) ?? items.find((item) => item.name === reference);
}

export function OpenWorkflow({ workflow }: { readonly workflow: DefinitionSummary }) {
  return (
    <Link
      className="button small"
      to="/definitions/$id"
      params={{ id: workflow.id }}
      aria-label={t("openNamed", { name: workflow.name || workflow.id })}
    >
      {t("open")}
    </Link>
  );
}

/** `Pack a parcel` → `PackAParcel`, the activity type that the server derives from a workflow. */
export const typeNameOf = (name: string): string =>
  name
    .split(/[^0-9A-Za-z]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

/** Names the workflow that an activity represents. */
export function UsedWorkflow({ type }: { readonly type: string }) {
  const items = useQuery(definitions.known()).data?.items ?? [];
  const used = items.find((item) => item.usable_as_activity && typeNameOf(item.name || item.id) === type);
  if (used === undefined) return null;
  const link = (
    <Link to="/definitions/$id" params={{ id: used.id }}>
      {used.name || used.id}
    </Link>
  );
  return (
    <p className="hf-used-workflow small">
      <Interpolate sentence={t("is")} parts={{ name: link }} />
    </p>
  );
}
