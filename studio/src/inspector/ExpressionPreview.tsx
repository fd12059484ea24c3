/** Result of an expression, evaluated with the values of an instance. */

import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext } from "react";
import { api } from "../api/client";
import { useCan } from "../api/session";
import type { Definition } from "../model/document";
import type { Json } from "../model/json";
import { useDebounced } from "../ui/useDebounced";

export interface PreviewValues {
  /** Null: use the default values of the declarations. */
  readonly instanceId: string | null;
  readonly variables: { readonly [name: string]: Json | undefined };
  readonly inputs: { readonly [name: string]: Json | undefined };
}

const NOTHING: PreviewValues = { instanceId: null, variables: {}, inputs: {} };

const PreviewContext = createContext<PreviewValues>(NOTHING);

export function PreviewProvider({
  definition,
  instanceId,
  children,
}: {
  definition: Definition;
  instanceId: string | null;
  children: ReactNode;
}) {
  const value: PreviewValues = {
    instanceId,
    variables: defaults(definition.variables),
    inputs: defaults(definition.inputs),
  };
  return <PreviewContext.Provider value={value}>{children}</PreviewContext.Provider>;
}

function defaults(
  items: readonly { readonly name: string; readonly [key: string]: Json | undefined }[] | undefined,
): PreviewValues["variables"] {
  return Object.fromEntries((items ?? []).map((item) => [item.name, item.default ?? null]));
}

/** Values used by previews. */
export function usePreviewValues(): PreviewValues {
  return useContext(PreviewContext);
}

export function Preview({ language, source }: { language: string; source: string }) {
  const values = useContext(PreviewContext);
  const can = useCan();
  const settled = useDebounced(source, 400);
  const body = {
    language,
    expression: settled,
    ...(values.instanceId === null
      ? { variables: values.variables, inputs: values.inputs }
      : { instance_id: values.instanceId }),
  };
  const query = useQuery({
    queryKey: ["preview", body],
    queryFn: ({ signal }) => api.post<{ value?: Json; error?: string | null }>("/api/preview", body, { signal }),
    enabled: settled.trim() !== "" && can("definitions:write"),
    retry: false,
    staleTime: 30_000,
  });
  if (settled.trim() === "" || (query.data === undefined && !query.isError)) return null;
  const error = query.isError ? query.error.message : query.data?.error;
  // Without an instance most names have no value, so errors are not shown.
  if (error && values.instanceId === null) return null;
  const shown = error ?? JSON.stringify(query.data?.value ?? null);
  return (
    <div className="hf-preview" data-bad={error ? "" : undefined} role="status">
      <span aria-hidden="true">=</span>
      <code title={shown}>{shown.length > 400 ? `${shown.slice(0, 400)}…` : shown}</code>
    </div>
  );
}
