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
  type Table,
  plainOf,
  readMarkdown,
} from "@svc/kit/markdown";
import { type ComponentChildren, h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { language, t } from "../texts/texts.ts";
import { CopyButton } from "./button.tsx";
import type { Piece } from "./highlight.ts";

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

/** Longer or growing text stays plain: the library scans a text several times. */
const MAX_CHARS = 20_000;
const SETTLED_MS = 150;

/** A code block: language, copy button, and colours once the library is loaded. */
function CodeBlock({ text, info }: { readonly text: string; readonly info: string }) {
  const language = /^[\w+#.-]{1,20}/.exec(info)?.[0].toLowerCase() ?? "";
  const pieces = useHighlighted(text, language);
  return (
    <div class="code-block">
      <div class="code-head">
        <span>{language === "" ? t("parts.plain-text") : language}</span>
        <CopyButton text={text}>{t("common.copy")}</CopyButton>
      </div>
      <pre
        tabIndex={0}
        role="region"
        aria-label={language === "" ? t("parts.code") : t("parts.code-in", { language })}
        dir="ltr"
      >
        <code>
          {pieces?.map((piece, index) =>
            piece.kind === undefined ? (
              piece.text
            ) : (
              <span key={index} class={`hl-${piece.kind}`}>
                {piece.text}
              </span>
            ),
          ) ?? text}
        </code>
      </pre>
    </div>
  );
}

function useHighlighted(text: string, language: string): readonly Piece[] | undefined {
  const [done, setDone] = useState<{ readonly text: string; readonly pieces: readonly Piece[] | undefined }>();
  useEffect(() => {
    if (language === "" || text.length > MAX_CHARS) return;
    let isWanted = true;
    const timer = setTimeout(() => {
      void import("./highlight.ts").then(
        ({ highlighted }) => isWanted && setDone({ text, pieces: highlighted(text, language) }),
        // Colours are optional.
        () => {},
      );
    }, SETTLED_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [text, language]);
  return done?.text === text ? done.pieces : undefined;
}

/** Minimum length of a segment, except the last. */
const MIN_CHARS = 2_000;
/** Nesting of lists and quotes; the parser also treats deeper levels as text. */
const MAX_DEPTH = 12;
/** A link may be defined anywhere in the text, and is used in all of it. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/;
/** Lines that continue a block after a blank line: an item or its content, a quote or a table. */
const CONTINUES_BLOCK = /^(?:\s|[-*+>|]|\d+[.)])/;
/** The marker of an item or a quote; its content follows. */
const MARKER = /^(?:[-*+>]|\d{1,9}[.)])(?=\s)/;

/**
 * Splits a long text into segments that parse alone as they parse within it; joined they are the text. While an answer grows, only the last
 * segment is parsed again. The parser reads only a limited beginning of a text, so segments also keep a long text Markdown to its end.
 */
export function segmentsOf(text: string): string[] {
  if (text.length < MIN_CHARS * 2) return [text];
  const segments: string[] = [];
  let from = 0;
  let fence: string | undefined;
  let isBlankBefore = false;
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, end);
    const isOpen = fence !== undefined;
    if (DEFINITION.test(line)) return [text];
    // A line that is not whole yet may become another kind of line.
    if (
      !isOpen &&
      isBlankBefore &&
      newline !== -1 &&
      at - from >= MIN_CHARS &&
      line !== "" &&
      !CONTINUES_BLOCK.test(line)
    ) {
      segments.push(text.slice(from, at));
      from = at;
    }
    fence = fenceAfter(fence, line);
    isBlankBefore = line.trim() === "";
    at = end + 1;
  }
  return [...segments, text.slice(from)];
}

/** The fence of the code block that is open after the line. */
function fenceAfter(open: string | undefined, line: string): string | undefined {
  let rest = line.trimStart();
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const marker = MARKER.exec(rest)?.[0];
    if (marker === undefined) break;
    rest = rest.slice(marker.length).trimStart();
  }
  const mark = rest.slice(0, 1);
  if (mark !== "`" && mark !== "~") return open;
  let count = 0;
  while (rest[count] === mark) count += 1;
  if (count < 3) return open;
  const info = rest.slice(count);
  if (open === undefined) return mark === "`" && info.includes("`") ? undefined : mark.repeat(count);
  return mark === open[0] && count >= open.length && info.trim() === "" ? undefined : open;
}
