import { Icon } from "../../parts/icon.tsx";
import type { Source } from "./chat-words.ts";

/** The channel's picture, or its first letter. Its name is read out. */
export function SourceIcon({ source: { name, icon } }: { readonly source: Source }) {
  return (
    <span class="source" title={name}>
      {icon === undefined ? <span aria-hidden="true">{name.slice(0, 1)}</span> : <Icon name={icon} />}
      <span class="unseen">{name}: </span>
    </span>
  );
}
