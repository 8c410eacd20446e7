import type { ComponentChildren } from "preact";

/** Nothing is there yet: what to do so that there is. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children === undefined ? null : <div>{children}</div>}
    </div>
  );
}

/** A command to type, as it is typed. */
export const Command = ({ children }: { readonly children: string }) => <code class="command">{children}</code>;
