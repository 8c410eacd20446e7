/** Building blocks of a view: heading, sections, empty lists, facts. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useServices } from "../services.ts";

interface HeadingProps {
  readonly title: string;
  /** Another element of the view takes the focus. */
  readonly keepsFocus?: boolean;
  /** Before the title, such as a back link. */
  readonly start?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The heading of a view. It takes the focus when the view changes, so that screen readers announce the view. */
export function Heading({ title, keepsFocus = false, start, children }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { route, pageTitle } = useServices();
  useEffect(() => pageTitle.view.set(title), [title]);
  useEffect(() => {
    // On page load the focus stays where the browser put it.
    if (route.value.isFirst || keepsFocus) return;
    heading.current?.focus();
  }, []);
  return (
    <header class="heading">
      {start}
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children === undefined ? null : <div class="buttons">{children}</div>}
    </header>
  );
}

interface SectionProps {
  readonly title: string;
  /** On the line of the title. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a view, under its own heading. */
export function Section({ title, aside, children }: SectionProps) {
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <div class="section-head">
        <h2 id={heading}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

/** Shown instead of an empty list, with the next step. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children === undefined ? null : <div>{children}</div>}
    </div>
  );
}

/** A command for a terminal. */
export const Command = ({ children }: { readonly children: string }) => <code class="command">{children}</code>;

/** Names with values. Entries with an undefined value are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
