import { useEffect, useState } from "react";
import { Badge, IconButton } from "../ui";
import { t } from "./instanceMessages";

type Props = { count: number; at: number | null; onChange: (at: number | null) => void; live: boolean };

const STEP_MS = 400;

/** Slider through the journal. The last position is the present. */
export function TimeSlider({ count, at, onChange, live }: Props) {
  const [playing, setPlaying] = useState(false);
  const place = at ?? count;
  useEffect(() => {
    if (!playing) return undefined;
    const timer = setTimeout(() => {
      if (place + 1 >= count) {
        setPlaying(false);
        onChange(null);
      } else onChange(place + 1);
    }, STEP_MS);
    return () => clearTimeout(timer);
  }, [playing, place, count, onChange]);
  const go = (to: number) => onChange(to >= count ? null : Math.max(0, to));
  return (
    <div className="travel">
      <IconButton small label={t("before")} icon="back" disabled={place === 0} onClick={() => go(place - 1)} />
      <IconButton
        small
        label={playing ? t("stop") : t("play")}
        icon={playing ? "pause" : "play"}
        disabled={count === 0}
        onClick={() => {
          if (!playing && at === null) onChange(0);
          setPlaying(!playing);
        }}
      />
      <input
        type="range"
        min={0}
        max={count}
        value={place}
        disabled={count === 0}
        aria-label={t("moment")}
        aria-valuetext={at === null ? t("now") : t("momentOf", { at: place, all: count })}
        onChange={(event) => go(Number(event.target.value))}
      />
      <span className="quiet small" style={{ minWidth: 72, textAlign: "right" }}>
        {at === null ? t("now") : t("momentOf", { at: place, all: count })}
      </span>
      <Badge tone={live ? "ok" : "off"}>{live ? t("live") : t("notLive")}</Badge>
    </div>
  );
}
