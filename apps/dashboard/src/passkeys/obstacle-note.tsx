import type { Obstacle } from "./obstacle.ts";

/** What is in the way of passkeys here. */
export const ObstacleNote = ({ obstacle: { text, href } }: { readonly obstacle: Obstacle }) => (
  <p class="hint">
    {text} {href === undefined ? null : <a href={href}>{href}</a>}
  </p>
);
