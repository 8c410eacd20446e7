/** A block of code: its language, a button that copies it, and colours as soon as the library for them is there. */
import { useEffect, useState } from "preact/hooks";
import { CopyButton } from "./copy-button.tsx";
import type { Piece } from "./highlight.ts";
import { t } from "../texts/texts.ts";

/** Longer or growing text stays plain: the library scans a text several times. */
const MAX_CHARS = 20_000;
const SETTLED_MS = 150;

export function CodeBlock({ text, info }: { readonly text: string; readonly info: string }) {
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
        // Without colours it reads as well.
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
