import { useState } from "react";
import type { Search } from "../navigation/filters";
import { t } from "./messages";
import { boundsOf, SPANS, TIMES, timesOf } from "./period";

type Props = { filters: Search; onChange: (changed: Search) => void };

/** Filter by a time field of an instance and a period. */
export function PeriodFilter({ filters, onChange }: Props) {
  const span = filters.since ?? "";
  const moment = (name: "from" | "to") => (
    <label className="row small quiet">
      {t(name)}
      <input
        className="input"
        type="datetime-local"
        value={filters[name] ?? ""}
        onChange={(event) => onChange({ [name]: event.target.value || undefined })}
      />
    </label>
  );
  return (
    <fieldset className="row wrap" aria-label={t("period")}>
      <select
        className="select"
        style={{ width: 112 }}
        aria-label={t("whichTime")}
        value={filters.by ?? "created"}
        onChange={(event) => onChange({ by: event.target.value === "created" ? undefined : event.target.value })}
      >
        {TIMES.map((name) => (
          <option key={name} value={name}>
            {t(name)}
          </option>
        ))}
      </select>
      <select
        className="select"
        style={{ width: 128 }}
        aria-label={t("period")}
        value={span}
        onChange={(event) =>
          onChange({
            since: event.target.value || undefined,
            ...(event.target.value === "between" ? {} : { from: undefined, to: undefined }),
          })
        }
      >
        <option value="">{t("anyTime")}</option>
        {SPANS.map((one) => (
          <option key={one} value={one}>
            {t(one)}
          </option>
        ))}
      </select>
      {span === "between" ? (
        <>
          {moment("from")}
          {moment("to")}
        </>
      ) : null}
    </fieldset>
  );
}

/** Computes "last hour" once and not on each render, which would change the query every time. */
export function usePeriod(filters: Search): Record<string, string | undefined> {
  const period = { span: filters.since, from: filters.from, to: filters.to };
  const key = JSON.stringify(period);
  const [made, setMade] = useState<{ key: string; bounds: { after?: string; before?: string } }>(() => ({
    key,
    bounds: boundsOf(period, new Date()),
  }));
  if (made.key === key) return timesOf(filters.by, made.bounds);
  const bounds = boundsOf(period, new Date());
  setMade({ key, bounds });
  return timesOf(filters.by, bounds);
}
