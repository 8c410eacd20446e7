/** The heading of a view. It takes the focus when the view changes, so that who does not see the page knows where they are. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useServices } from "../services.ts";

interface HeadingProps {
  readonly title: string;
  /** Something else of the view has it. */
  readonly keepsFocus?: boolean;
  /** Before the title: the way back. */
  readonly start?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function Heading({ title, keepsFocus = false, start, children }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { route, pageTitle } = useServices();
  useEffect(() => pageTitle.view.set(title), [title]);
  useEffect(() => {
    // The first view of a page that was just opened leaves the focus where the browser has put it.
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
  /** On the same line. */
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

/** Names and values, one under the other. A value that is undefined is left out with its name. */
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
