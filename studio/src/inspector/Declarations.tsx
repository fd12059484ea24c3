/** Variables, inputs and outputs of the workflow, or variables of a container. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { defineMessages } from "../i18n/messages";
import { isObject, type Json, type JsonObject } from "../model/json";
import { Button, Checkbox, IconButton } from "../ui";
import { asText, asValue } from "./editors/compound";

const t = defineMessages("declarations", {
  add: "Add",
  name: "Name",
  type: "Type",
  remove: "Remove {name}",
  required: "Required",
  default: "Default",
  storage: "Storage",
  instance: "Persisted",
  memory: "In memory only",
  description: "Description",
});

const TYPES = [
  "any",
  "string",
  "integer",
  "number",
  "decimal",
  "boolean",
  "datetime",
  "date",
  "duration",
  "object",
  "list",
  "list[string]",
  "list[integer]",
  "bytes",
];

export type DeclarationKind = "variables" | "inputs" | "outputs";

interface DeclarationsProps {
  readonly kind: DeclarationKind;
  readonly items: readonly JsonObject[];
  readonly readOnly: boolean;
  readonly onChange: (index: number, value: JsonObject | null) => void;
}

export function Declarations({ kind, items, readOnly, onChange }: DeclarationsProps) {
  const types = useTypes();
  const [added, setAdded] = useState<number | null>(null);
  const add = (): void => {
    setAdded(items.length);
    onChange(items.length, { name: freeName(kind, items), type: kind === "variables" ? "any" : "string" });
  };
  return (
    <>
      {items.map((item, index) => (
        <Declaration
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their position, and their content changes while it is typed
          key={index}
          isNew={index === added}
          place={`${kind}/${index}`}
          kind={kind}
          item={item}
          types={types}
          readOnly={readOnly}
          onChange={(value) => onChange(index, value)}
        />
      ))}
      {readOnly ? null : (
        <div>
          <Button small icon="add" onClick={add}>
            {t("add")}
          </Button>
        </div>
      )}
    </>
  );
}

function useTypes(): readonly string[] {
  const query = useQuery({
    queryKey: ["descriptors", "variable-types"],
    queryFn: ({ signal }) => api.get<{ items: { name: string }[] }>("/api/descriptors/variable-types", {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return query.data === undefined ? TYPES : [...new Set([...TYPES, ...query.data.items.map((item) => item.name)])];
}

function freeName(kind: DeclarationKind, items: readonly JsonObject[]): string {
  const base = kind.slice(0, -1);
  let number = items.length + 1;
  while (items.some((item) => item.name === `${base}${number}`)) number += 1;
  return `${base}${number}`;
}

interface DeclarationProps {
  /** Just added: the name field takes the focus. */
  readonly isNew: boolean;
  readonly place: string;
  readonly kind: DeclarationKind;
  readonly item: JsonObject;
  readonly types: readonly string[];
  readonly readOnly: boolean;
  readonly onChange: (value: JsonObject | null) => void;
}

function Declaration({ isNew, place, kind, item, types, readOnly, onChange }: DeclarationProps) {
  const set = (key: string, value: Json | undefined): void => {
    const { [key]: _old, ...rest } = item;
    onChange(value === undefined ? rest : { ...item, [key]: value });
  };
  const name = asText(item.name);
  const type = asText(item.type) || "any";
  const listed = types.includes(type) ? types : [type, ...types];
  return (
    <div className="hf-declaration" data-declared={place}>
      <div className="row">
        <input
          className="input mono"
          aria-label={t("name")}
          placeholder={t("name")}
          // biome-ignore lint/a11y/noAutofocus: the user has just added this row and names it next
          autoFocus={isNew}
          value={name}
          readOnly={readOnly}
          onFocus={(event) => (isNew ? event.target.select() : undefined)}
          onChange={(event) => set("name", event.target.value)}
        />
        <select
          className="select"
          aria-label={t("type")}
          value={type}
          disabled={readOnly}
          onChange={(event) => set("type", event.target.value)}
        >
          {listed.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {readOnly ? null : (
          <IconButton small icon="trash" label={t("remove", { name })} onClick={() => onChange(null)} />
        )}
      </div>
      {kind === "outputs" ? null : (
        <div className="row">
          <input
            className="input"
            aria-label={`${name} ${t("default")}`}
            placeholder={t("default")}
            value={asText(item.default)}
            readOnly={readOnly || isObject(item.default)}
            onChange={(event) =>
              set(
                "default",
                event.target.value === ""
                  ? undefined
                  : type === "string"
                    ? event.target.value
                    : asValue(event.target.value),
              )
            }
          />
          {kind === "inputs" ? (
            <Checkbox
              label={t("required")}
              checked={item.required === true}
              disabled={readOnly}
              onChange={(event) => set("required", event.target.checked || undefined)}
            />
          ) : null}
          {kind === "variables" ? (
            <select
              className="select"
              aria-label={`${name} ${t("storage")}`}
              value={asText(item.storage) || "instance"}
              disabled={readOnly}
              onChange={(event) => set("storage", event.target.value === "instance" ? undefined : event.target.value)}
            >
              <option value="instance">{t("instance")}</option>
              <option value="memory">{t("memory")}</option>
            </select>
          ) : null}
        </div>
      )}
      {kind === "variables" ? null : (
        <input
          className="input"
          aria-label={`${name} ${t("description")}`}
          placeholder={t("description")}
          value={asText(item.description)}
          readOnly={readOnly}
          onChange={(event) => set("description", event.target.value || undefined)}
        />
      )}
    </div>
  );
}
