import type { Execution, InstanceItem } from "../api/types";

/** Child instances of an execution. The engine derives their ids from the parent and the execution. */
export function startedBy<One extends Pick<InstanceItem, "id">>(
  instance: string,
  execution: Pick<Execution, "execution_id">,
  children: readonly One[],
): One[] {
  const id = `${instance}-${execution.execution_id}`;
  return children.filter((child) => child.id === id || child.id.startsWith(`${id}-`));
}
