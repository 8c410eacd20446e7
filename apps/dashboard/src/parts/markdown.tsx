/**
 * Rendered Markdown of a model or a procedure. The parser is the channels' own; its result is drawn as elements, never as HTML:
 * markup in the text stays text. No address is loaded before a click.
 */
import {
  type Block,
  type Inline,
  type Item,
  type Link,
  type List,
  plainOf,
  readMarkdown,
  type Table,
} from "@svc/kit/markdown";
import { type ComponentChildren, h } from "preact";
import { useMemo } from "preact/hooks";
import { CodeBlock } from "./code-block.tsx";
import { segmentsOf } from "./segments.ts";
import { language, t } from "../texts/texts.ts";

export function Markdown({ text }: { readonly text: string }) {
  const segments = useMemo(() => segmentsOf(text), [text]);
  return (
    <div class="md">
      {segments.map((segment, index) => (
        <Segment key={index} text={segment} />
      ))}
    </div>
  );
}

function Segment({ text }: { readonly text: string }) {
  const drawn = useMemo(() => markdownOf(text), [text, language()]);
  return <>{drawn}</>;
}

/** The elements of a text. */
export const markdownOf = (text: string): ComponentChildren => blocksOf(readMarkdown(text));

const blocksOf = (blocks: readonly Block[]): ComponentChildren => blocks.map((block, index) => blockOf(block, index));

function blockOf(block: Block, key: number): ComponentChildren {
  switch (block.kind) {
    case "paragraph":
      return (
        <p key={key} dir="auto">
          {inlinesOf(block.inlines)}
        </p>
      );
    case "heading":
      // The page has the first two levels itself.
      return h(`h${Math.min(6, block.level + 2)}`, { key, dir: "auto" }, inlinesOf(block.inlines));
    case "list":
      return listOf(block, key);
    case "quote":
      return <blockquote key={key}>{blocksOf(block.blocks)}</blockquote>;
    case "code":
      return <CodeBlock key={key} text={block.text} info={block.info} />;
    case "table":
      return tableOf(block, key);
    case "definition":
      return <p key={key}>{block.text}</p>;
    case "rule":
      return <hr key={key} />;
  }
}

function listOf({ items }: List, key: number): ComponentChildren {
  const isOrdered = items.every(({ number }) => number !== undefined);
  return h(isOrdered ? "ol" : "ul", { key }, items.map(isOrdered ? numberedOf : itemOf));
}

const numberedOf = (item: Item, key: number): ComponentChildren => (
  <li key={key} value={Number.parseInt(item.number ?? "1", 10)} dir="auto">
    {contentOf(item)}
  </li>
);

const itemOf = (item: Item, key: number): ComponentChildren => (
  <li key={key} class={item.task === undefined ? undefined : "task"} dir="auto">
    {contentOf(item)}
  </li>
);

/** Short items stay on one line each. */
function contentOf({ task, blocks }: Item): ComponentChildren {
  const [first, ...rest] = blocks;
  const lead = first?.kind === "paragraph" ? inlinesOf(first.inlines) : first && blockOf(first, 0);
  return (
    <>
      {task !== undefined && (
        <span role="img" aria-label={task === "done" ? t("parts.done") : t("parts.to-do")} class={`box ${task}`} />
      )}
      {lead}
      {blocksOf(rest)}
    </>
  );
}

function tableOf({ rows, align }: Table, key: number): ComponentChildren {
  const [head = [], ...body] = rows;
  const side = (column: number): string | undefined => align[column] && `to-${align[column]}`;
  return (
    <div key={key} class="md-table" role="region" aria-label={t("parts.table")} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={column} scope="col" class={side(column)}>
                {inlinesOf(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={side(column)} dir="auto">
                  {inlinesOf(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const inlinesOf = (inlines: readonly Inline[]): ComponentChildren => inlines.map((one, index) => inlineOf(one, index));

function inlineOf(one: Inline, key: number): ComponentChildren {
  switch (one.kind) {
    case "text":
      return one.text;
    case "break":
      return <br key={key} />;
    case "code":
      return <code key={key}>{one.text}</code>;
    case "bold":
      return <strong key={key}>{inlinesOf(one.children)}</strong>;
    case "italic":
      return <em key={key}>{inlinesOf(one.children)}</em>;
    case "strike":
      return <del key={key}>{inlinesOf(one.children)}</del>;
    case "link":
      return linkOf(one, key);
  }
}

/**
 * A picture is a link to it: to load it would tell its host who reads. Where a label looks like another address than the one
 * it leads to, the real host stands beside it.
 */
function linkOf({ form, url, target, children }: Link, key: number): ComponentChildren {
  const label = plainOf(children);
  if (url === undefined) return <span key={key}>{form === "bare" ? label : `${label} (${target})`}</span>;
  const host = hostOf(url);
  const isDisguised = form !== "bare" && looksLikeAddress(label) && hostOf(label) !== host;
  return (
    <a
      key={key}
      href={url}
      title={url}
      target="_blank"
      rel="noopener noreferrer nofollow ugc"
      referrerpolicy="no-referrer"
    >
      {form === "image"
        ? t("parts.picture", { label: label === "" ? target : label })
        : label === ""
          ? url
          : inlinesOf(children)}
      {(isDisguised || form === "image") && host !== undefined && ` (${host})`}
    </a>
  );
}

const looksLikeAddress = (label: string): boolean =>
  /^\s*(?:[a-z][a-z0-9+.-]*:)?(?:\/\/)?[^\s/@]+\.[^\s/.]{2}/i.test(label);

function hostOf(address: string): string | undefined {
  const text = address.trim();
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`;
  return URL.canParse(whole) ? new URL(whole).host || undefined : undefined;
}
