/** Icons of activities by the names in descriptors. Line icons on a 16-pixel grid; an unknown name is a box. */

const PATHS: Readonly<Record<string, string>> = {
  "alert-triangle": "M8 2.5 14.2 13.2H1.8zM8 6.4v3.2M8 11.4v.1",
  bell: "M4 11V7a4 4 0 0 1 8 0v4l1.2 1.5H2.8zM6.8 14.3h2.4",
  bot: "M3.5 6h9v7h-9zM8 6V3.2M6.2 9h.1M9.8 9h.1M6.5 11h3",
  box: "m8 2 5.5 3v6L8 14l-5.5-3V5zM2.8 5.2 8 8l5.2-2.8M8 8v5.8",
  braces:
    "M6 2.5c-2 0-2 1-2 2.2S4 7.4 2.6 8C4 8.6 4 10 4 11.3s0 2.2 2 2.2M10 2.5c2 0 2 1 2 2.2s0 2.7 1.4 3.3c-1.4.6-1.4 2-1.4 3.3s0 2.2-2 2.2",
  "calendar-clock":
    "M13.5 6V3.5h-11v10H7M5 2v3M11 2v3M2.5 6.5h6M11.3 14a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM11.3 9.9v1.3l.9.6",
  "calendar-sync":
    "M13.5 6V3.5h-11v10H7M5 2v3M11 2v3M2.5 6.5h11M9 10.5a2.6 2.6 0 0 1 4.6-1M13.8 8v1.7h-1.7M14 12a2.6 2.6 0 0 1-4.6 1M9.2 14.5v-1.7h1.7",
  "check-circle": "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.4 8.2l1.8 1.8 3.4-3.8",
  "circle-dot": "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  "clipboard-check": "M5.5 3.5h-2v10h9v-10h-2M5.5 2.5h5v2h-5zM5.8 9l1.6 1.6 3-3.2",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6",
  code: "m5.5 4.5-3.5 3.5 3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  columns: "M2.5 3h4v10h-4zM9.5 3h4v10h-4z",
  "corner-down-left": "M13 3v6H3M6 6 3 9l3 3",
  database:
    "M8 6.5c3 0 5-.9 5-2s-2-2-5-2-5 .9-5 2 2 2 5 2zM3 4.5v7c0 1.1 2 2 5 2s5-.9 5-2v-7M3 8c0 1.1 2 2 5 2s5-.9 5-2",
  download: "M8 2v8M4.8 7 8 10.2 11.2 7M2.5 12.5v1h11v-1",
  equal: "M3.5 6h9M3.5 10h9",
  "file-down": "M9 2H4v12h8V5zM9 2v3h3M8 7v4M6.2 9.4 8 11.2l1.8-1.8",
  "file-text": "M9 2H4v12h8V5zM9 2v3h3M6 8h4M6 10.8h4",
  flag: "M3.5 14V2.5h8.5l-2 3 2 3H3.5",
  "git-branch":
    "M4.5 2.5v8M4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 5.5c0 3-3 3.5-7 4",
  "git-fork":
    "M4 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM8 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4 5.5C4 8 12 8 12 5.5M8 7.4v3.1",
  "git-merge":
    "M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 11a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 5.5v5M4.5 5.5c0 3 2.5 4 5.5 4",
  globe:
    "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 1.7 2.6 3.7 2.6 6S10 12.3 8 14C6 12.3 5.4 10.3 5.4 8S6 3.7 8 2z",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.3c.2-1 .9-1.5 1.8-1.5 1 0 1.8.7 1.8 1.6 0 1.3-1.9 1.4-1.9 2.7M8 11.3v.1",
  hourglass: "M4 2.5h8M4 13.5h8M5 2.5c0 3 2 4 3 5.5 1-1.5 3-2.5 3-5.5M5 13.5c0-3 2-4 3-5.5 1 1.5 3 2.5 3 5.5",
  keyboard: "M1.5 4.5h13v7h-13zM4 7h.1M6.5 7h.1M9 7h.1M11.5 7h.1M5 9.3h6",
  layers: "m8 2.5 6 3-6 3-6-3zM2.5 8.5 8 11.3l5.5-2.8M2.5 11 8 13.8l5.5-2.8",
  link: "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2A2.6 2.6 0 0 0 9 3.3l-.9.9M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l.9-.9",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1",
  "log-out": "M6.5 3h-3v10h3M7 8h6.5M11 5.2 13.8 8 11 10.8",
  mail: "M2 3.5h12v9H2zM2.3 4 8 8.5 13.7 4",
  megaphone: "M2.5 6.5v3l8 3v-9zM10.5 6c1 0 1.8.9 1.8 2s-.8 2-1.8 2M4.5 10.3l.7 3h1.6l-.6-2.3",
  play: "M4.5 2.8v10.4L13 8z",
  plug: "M6 2v3M10 2v3M4 5h8v3a4 4 0 0 1-8 0zM8 12v2.5",
  radio:
    "M8 9.2a1.2 1.2 0 1 0 0-2.4 1.2 1.2 0 0 0 0 2.4zM5.3 10.7a3.8 3.8 0 0 1 0-5.4M10.7 5.3a3.8 3.8 0 0 1 0 5.4M3.4 12.6a6.5 6.5 0 0 1 0-9.2M12.6 3.4a6.5 6.5 0 0 1 0 9.2",
  repeat: "M3 7V6a2 2 0 0 1 2-2h7.5M10.5 2l2 2-2 2M13 9v1a2 2 0 0 1-2 2H3.5M5.5 14l-2-2 2-2",
  reply: "M6 4 2 8l4 4M2 8h7a5 5 0 0 1 5 5",
  route:
    "M4 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM5.5 12H10a2.5 2.5 0 0 0 0-5H6a2 2 0 0 1 0-4h4.5",
  scroll: "M4 2.5h7v9.5a1.5 1.5 0 0 0 3 0v-1.5H6V12a1.5 1.5 0 0 1-3 0V4.5h1zM6.5 5.5h2.5M6.5 8h2.5",
  send: "m14 2-6 12-2-5.5L2 6.5zM14 2 6 8.5",
  shield: "M8 1.8 13 3.6v4c0 3.2-2.1 5.3-5 6.6-2.9-1.3-5-3.4-5-6.6v-4z",
  "skip-forward": "m3 3 6.5 5L3 13zM12.5 3v10",
  split: "M8 14V9L3.5 4.5M8 9l4.5-4.5M3.5 7.5v-3h3M12.5 7.5v-3h-3",
  square: "M3.5 3.5h9v9h-9z",
  "square-function": "M2.5 2.5h11v11h-11zM5.5 11c1.5 0 1.6-1 1.8-3s.3-3 1.8-3M6 7.5h3.5",
  tag: "M2.5 2.5h5.2l5.8 5.8-5.2 5.2-5.8-5.8zM5.3 5.3h.1",
  terminal: "M2 3h12v10H2zM4.5 6l2 2-2 2M8 10.3h3.5",
  timer: "M8 14a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM8 6.5V9l1.5 1M6.5 1.8h3",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H7M5.8 3.6 3 6.5l2.8 2.9",
  user: "M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM2.8 13.8c.6-2.6 2.6-4 5.2-4s4.6 1.4 5.2 4",
  "user-check":
    "M6.5 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM1.5 13.8c.6-2.6 2.5-4 5-4 1.1 0 2.1.3 2.9.8M10 12l1.6 1.6 3-3.2",
  workflow: "M2.5 2.5h4v4h-4zM9.5 9.5h4v4h-4zM6.5 4.5h5v5",
};

export function iconPath(name: string): string {
  return PATHS[name] ?? PATHS.box ?? "";
}

export function ActivityIcon({ name, size = 16 }: { name: string; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      style={{ flex: "none" }}
    >
      <path d={iconPath(name)} />
    </svg>
  );
}
