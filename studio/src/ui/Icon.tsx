/** Line icons on a 16-pixel grid. Icons are decorative: the control around them has the accessible name. */
const PATHS = {
  add: "M8 3v10M3 8h10",
  alert: "M8 2.5 14.2 13.2H1.8zM8 6.4v3.2M8 11.4v.1",
  arrowDown: "M8 3v10M4 9.2 8 13l4-3.8",
  arrowUp: "M8 13V3M4 6.8 8 3l4 3.8",
  back: "M9.8 3.5 5.2 8l4.6 4.5",
  bolt: "M9 1.8 3.2 9h4.2L7 14.2 12.8 7H8.6z",
  check: "m3 8.6 3.2 3.2L13 4.6",
  chevron: "m4.5 6.5 3.5 3.5 3.5-3.5",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6",
  close: "m4 4 8 8M12 4l-8 8",
  code: "m5.5 4.5-3.5 3.5 3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  dashboard: "M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3.5H9zM9 8h4.5v5.5H9zM2.5 10.5H7v3H2.5z",
  diff: "M4.5 2.5v11M11.5 2.5v11M2.5 5h4M2.5 11h4M9.5 8h4",
  download: "M8 2.5v7.5M4.8 7.2 8 10.4l3.2-3.2M3 13.5h10",
  edit: "m10.6 2.8 2.6 2.6-7.6 7.6-3.1.5.5-3.1z",
  eye: "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z",
  filter: "M2.5 3.5h11L9.5 8.4v4.1l-3 1V8.4z",
  flow: "M2.5 2.5h4v4h-4zM9.5 9.5h4v4h-4zM6.5 4.5h5v5",
  folder: "M2 4.2c0-.6.4-1 1-1h3l1.4 1.6H13c.6 0 1 .4 1 1v6c0 .6-.4 1-1 1H3c-.6 0-1-.4-1-1z",
  fork: "M4.5 2.5v11M4.5 8.5c4 0 7-1 7-5.5M9.8 4.6l1.7-2 1.7 2",
  history: "M2.6 6A5.8 5.8 0 1 1 2.2 8M2.4 2.8V6h3.2M8 5v3l2 1.4",
  inbox: "M2.5 9.5 4.2 3h7.6l1.7 6.5v3.5h-11zM2.5 9.5H6l.8 1.6h2.4l.8-1.6h3.5",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.4v3.4M8 5.2v.1",
  key: "M5.4 10.6a2.9 2.9 0 1 0 0-.1M7.9 8.2l5.2-5.2M11 5l1.8 1.8",
  label: "M2.5 2.5h5.2l5.8 5.8-5.2 5.2-5.8-5.8zM5.3 5.3h.1",
  link: "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2A2.6 2.6 0 0 0 9 3.3l-.9.9M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l.9-.9",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1",
  lock: "M4 7.5h8v6H4zM5.5 7.5V5.2a2.5 2.5 0 0 1 5 0v2.3",
  moon: "M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  node: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1",
  out: "M6.5 3h-3v10h3M7 8h6.5M11 5.2 13.8 8 11 10.8",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M4.5 2.8v10.4L13 8z",
  redo: "M13 6.5H6.5a3.5 3.5 0 0 0 0 7H9M10.2 3.6 13 6.5l-2.8 2.9",
  refresh: "M13.4 6A5.7 5.7 0 1 0 13.8 8M13.6 2.8V6h-3.2",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4l3.1 3.1",
  settings:
    "M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM6 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  skip: "m3 3 6.5 5L3 13zM12.5 3v10",
  star: "m8 2 1.8 3.8 4.2.5-3.1 2.9.8 4.1L8 11.3l-3.7 2 .8-4.1L2 6.3l4.2-.5z",
  stop: "M4 4h8v8H4z",
  sun: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9M6.8 7v4M9.2 7v4",
  tree: "M3 2.5v9h3M3 6h3M8.5 4.5h5v3h-5zM8.5 10h5v3h-5z",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H7M5.8 3.6 3 6.5l2.8 2.9",
  upload: "M8 10.5V3M4.8 5.8 8 2.6l3.2 3.2M3 13.5h10",
  user: "M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM2.8 13.8c.6-2.6 2.6-4 5.2-4s4.6 1.4 5.2 4",
  wand: "m2.5 13.5 7-7M11.5 2v2.4M11.5 7v2.2M8.6 4.6h2M12.6 4.6h2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      style={{ flex: "none" }}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
