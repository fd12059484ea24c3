import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { instances } from "../api/queries";
import { useCan } from "../api/session";
import type { Incident, InstanceDetail } from "../api/types";
import type { ActivityNames } from "../catalogue/activityNames";
import { Badge, Button, Empty, QueryView, Timestamp } from "../ui";
import { isHeld, type Remedy } from "./actions";
import { IncidentDialog } from "./IncidentDialog";
import { t } from "./instanceMessages";

export function IncidentsPanel({
  detail,
  names,
  onShow,
}: {
  detail: InstanceDetail;
  names: ActivityNames;
  onShow: (activity: string | null) => void;
}) {
  const query = useQuery(instances.incidents(detail.id));
  const [request, setRequest] = useState<{ incident: Incident; verb: Remedy } | null>(null);
  return (
    <QueryView query={query}>
      {(incidents) => (
        <>
          {incidents.length === 0 ? (
            <Empty icon="check" title={t("noIncidents")}>
              {t("noIncidentsText")}
            </Empty>
          ) : null}
          {byUrgency(incidents).map((incident) => (
            <IncidentCard
              key={incident.id}
              incident={incident}
              name={nameOf(incident, names)}
              definition={detail.definition_id}
              onShow={onShow}
              onAsk={(verb) => setRequest({ incident, verb })}
            />
          ))}
          {request ? (
            <IncidentDialog
              detail={detail}
              name={nameOf(request.incident, names)}
              incident={request.incident}
              verb={request.verb}
              onClose={() => setRequest(null)}
            />
          ) : null}
        </>
      )}
    </QueryView>
  );
}

/** Open incidents first, newest first. */
export function byUrgency<IncidentCard extends Pick<Incident, "open" | "at">>(
  incidents: readonly IncidentCard[],
): IncidentCard[] {
  return incidents.toSorted((left, right) => Number(right.open) - Number(left.open) || right.at.localeCompare(left.at));
}

export const nameOf = (incident: Incident, names: ActivityNames): string =>
  names.of({ ...incident, name: incident.activity_name, type: incident.activity_type });

type IncidentCardProps = {
  incident: Incident;
  name: string;
  definition: string;
  onShow: (activity: string | null) => void;
  onAsk: (verb: Remedy) => void;
};

function IncidentCard({ incident, name, definition, onShow, onAsk }: IncidentCardProps) {
  const can = useCan();
  const stack = incident.details.traceback ?? incident.details.stack;
  const remedy = isHeld(incident) ? "recover" : "retry";
  return (
    <article className="card padded stack">
      <div className="row">
        <Badge tone={incident.open ? "bad" : "off"}>{incident.open ? t("openIncident") : t("closedIncident")}</Badge>
        <b className="grow clip">{name}</b>
        <Timestamp at={incident.at} />
      </div>
      <p>
        <b>{incident.type}</b>: {incident.message}
      </p>
      <dl className="facts small">
        {incident.source ? (
          <>
            <dt>{t("source")}</dt>
            <dd className="value">{incident.source}</dd>
          </>
        ) : null}
        <dt>{t("activity")}</dt>
        <dd>
          {incident.activity_id ?? "–"}{" "}
          {incident.activity_type ? <span className="faint">({incident.activity_type})</span> : null}
        </dd>
        {incident.attempt > 1 ? (
          <>
            <dt>{t("attempt", { n: "" })}</dt>
            <dd>{incident.attempt}</dd>
          </>
        ) : null}
      </dl>
      {Object.keys(incident.inputs).length > 0 ? (
        <pre className="code">{JSON.stringify(incident.inputs, null, 2)}</pre>
      ) : null}
      {typeof stack === "string" ? (
        <details>
          <summary>{t("stack")}</summary>
          <pre className="code">{stack}</pre>
        </details>
      ) : null}
      <div className="row">
        <Button small icon="eye" onClick={() => onShow(incident.activity_id)}>
          {t("show")}
        </Button>
        {can("definitions:read") ? (
          <Link
            className="button small"
            to="/definitions/$id"
            params={{ id: definition }}
            search={incident.activity_id ? { activity: incident.activity_id } : {}}
          >
            {t("correct")}
          </Link>
        ) : null}
        {incident.open && can("instances:write") ? (
          <>
            <Button small kind="primary" icon="refresh" onClick={() => onAsk(remedy)}>
              {t(remedy)}
            </Button>
            <Button small icon="skip" onClick={() => onAsk("skip")}>
              {t("skip")}
            </Button>
          </>
        ) : null}
      </div>
    </article>
  );
}
