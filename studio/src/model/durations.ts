/** Durations: parsing, formatting, and a readable form. */

export interface Duration {
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

const ISO = /^([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/i;
const CLOCK = /^([+-])?(?:(\d+)\.)?(\d+):(\d{1,2})(?::(\d{1,2}(?:\.\d+)?))?$/;

/** Returns null for an invalid or negative duration: no input accepts one. */
export function parseDuration(text: string): Duration | null {
  const trimmed = text.trim();
  const iso = ISO.exec(trimmed);
  if (iso !== null && !/[PT]$/i.test(trimmed)) {
    const [, sign, weeks, days, hours, minutes, seconds] = iso;
    if (sign === "-") return null;
    return {
      days: number(weeks) * 7 + number(days),
      hours: number(hours),
      minutes: number(minutes),
      seconds: number(seconds),
    };
  }
  const clock = CLOCK.exec(trimmed);
  if (clock === null || clock[1] === "-") return null;
  return { days: number(clock[2]), hours: number(clock[3]), minutes: number(clock[4]), seconds: number(clock[5]) };
}

function number(text: string | undefined): number {
  return text === undefined ? 0 : Number(text.replace(",", "."));
}

export function formatDuration(length: Duration): string {
  const day = length.days ? `${length.days}D` : "";
  const clock = [
    length.hours ? `${length.hours}H` : "",
    length.minutes ? `${length.minutes}M` : "",
    length.seconds ? `${length.seconds}S` : "",
  ].join("");
  return day || clock ? `P${day}${clock ? `T${clock}` : ""}` : "PT0S";
}

/** `3 days`, `1 hour 30 minutes`. Returns an invalid text unchanged. */
export function sayDuration(text: string): string {
  const length = parseDuration(text);
  if (length === null) return text;
  const parts = (["days", "hours", "minutes", "seconds"] as const)
    .filter((unit) => length[unit] > 0)
    .map((unit) => `${length[unit]} ${length[unit] === 1 ? unit.slice(0, -1) : unit}`);
  return parts.length > 0 ? parts.join(" ") : "0 seconds";
}
