import type { Obstacle } from "./obstacle.ts";

/** The obstacle to passkeys on this page. */
export const ObstacleNote = ({ obstacle: { text, href } }: { readonly obstacle: Obstacle }) => (
  <p class="hint">
    {text} {href === undefined ? null : <a href={href}>{href}</a>}
  </p>
);
