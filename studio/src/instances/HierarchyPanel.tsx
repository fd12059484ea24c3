import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { instances } from "../api/queries";
import type { InstanceDetail, InstanceItem } from "../api/types";
import { StatusBadge } from "../ui";
import { t } from "./instanceMessages";

const MAX_DEPTH = 8;

/** Tree of parents and children. */
export function HierarchyPanel({ detail }: { detail: InstanceDetail }) {
  return (
    <div className="stack">
      <ul className="family">
        <Ancestors id={detail.parent_id} depth={0}>
          <li>
            <InstanceRow item={detail} here />
            <Children of={detail} depth={0} />
          </li>
        </Ancestors>
      </ul>
    </div>
  );
}

/** Link to the parent instance. */
export function ParentLink({ id }: { id: string }) {
  const query = useQuery(instances.one(id));
  const name = query.data ? query.data.name || query.data.definition_name : id;
  return (
    <Link className="clip" to="/instances/$id" params={{ id }}>
      {t("startedBy", { name })}
    </Link>
  );
}

function Ancestors({ id, depth, children }: { id: string | null; depth: number; children: React.ReactNode }) {
  const query = useQuery({ ...instances.one(id ?? ""), enabled: id !== null });
  if (!id || !query.data || depth > MAX_DEPTH) return <>{children}</>;
  return (
    <Ancestors id={query.data.parent_id} depth={depth + 1}>
      <li>
        <InstanceRow item={query.data} />
        <ul>{children}</ul>
      </li>
    </Ancestors>
  );
}

/** A child starts after the commit of its parent and changes without notifying the parent, so it is polled. */
export const childrenOf = (parent: InstanceItem) => ({
  ...instances.children(parent.id),
  refetchInterval: parent.finished ? (false as const) : 5_000,
});

function Children({ of, depth }: { of: InstanceItem; depth: number }) {
  const query = useQuery(childrenOf(of));
  const items = query.data?.items ?? [];
  if (items.length === 0) return depth === 0 && query.data ? <p className="quiet small">{t("noFamily")}</p> : null;
  return (
    <ul>
      {items.map((item) => (
        <li key={item.id}>
          <InstanceRow item={item} />
          {depth < MAX_DEPTH ? <Children of={item} depth={depth + 1} /> : null}
        </li>
      ))}
    </ul>
  );
}

export function InstanceRow({ item, here }: { item: InstanceItem; here?: boolean }) {
  const name = item.name || item.definition_name || item.definition_id;
  return (
    <div>
      <StatusBadge status={item.status} />
      {here ? (
        <b>{name}</b>
      ) : (
        <Link to="/instances/$id" params={{ id: item.id }}>
          {name}
        </Link>
      )}
      <span className="faint small clip value">{item.id.slice(-8)}</span>
    </div>
  );
}
