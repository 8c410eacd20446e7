/** Icons: one path each in a 24 px box, beside a text or with a label. */

const PATHS = {
  mark: "M4 15c4 0 4-8 8-8s4 8 8 8",
  chat: "M21 12a8 8 0 0 1-11.5 7.2L4 21l1.8-5.5A8 8 0 1 1 21 12z",
  bell: "M6 9a6 6 0 1 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2 2 0 0 0 4 0",
  flow: "M5 4h6v6H5zM13 14h6v6h-6zM8 10v4a3 3 0 0 0 3 3h2",
  pulse: "M3 12h4l3-8 4 16 3-8h4",
  gear: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1",
  out: "M15 4h4v16h-4M10 8l-4 4 4 4M6 12h9",
  plus: "M12 5v14M5 12h14",
  find: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  more: "M4 12h1M11.5 12h1M19 12h1",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v5",
  box: "M3 5h18v4H3zM5 9v10h14V9M10 13h4",
  back: "M15 5l-7 7 7 7",
  term: "M4 6l6 6-6 6M13 18h7",
  envelope: "M3 6h18v12H3zM3 7l9 7 9-7",
  phone: "M6 3h3l2 5-2 1.5a12 12 0 0 0 5.5 5.5L16 13l5 2v3a3 3 0 0 1-3 3A15 15 0 0 1 3 6a3 3 0 0 1 3-3z",
  plug: "M9 3v5M15 3v5M7 8h10v3a5 5 0 0 1-10 0zM12 16v5",
  clip: "M20 11.5l-8.2 8.2a5 5 0 0 1-7.1-7.1l8.5-8.5a3.4 3.4 0 0 1 4.8 4.8l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.8-7.8",
  mic: "M12 15a3 3 0 0 0 3-3V6a3 3 0 1 0-6 0v6a3 3 0 0 0 3 3zM6 11.5a6 6 0 0 0 12 0M12 17.5V21",
  file: "M6 3h8l4 4v14H6zM14 3v5h4",
  close: "M6 6l12 12M18 6L6 18",
  keys: "M3 7h18v11H3zM7 11h.01M11 11h.01M15 11h.01M8 15h8",
} as const;

export type IconName = keyof typeof PATHS;

interface Props {
  readonly name: IconName;
  /** Required if no text is beside the icon. */
  readonly label?: string;
}

export function Icon({ name, label }: Props) {
  const role = label === undefined ? { "aria-hidden": "true" as const } : { role: "img" as const, "aria-label": label };
  return (
    <svg class="icon" viewBox="0 0 24 24" {...role}>
      <path d={PATHS[name]} />
    </svg>
  );
}
