import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Markdown } from "./markdown.tsx";
import { Prose } from "./name.tsx";
import { t } from "../texts/texts.ts";

const MOST_CHARS = 280;
const MOST_LINES = 4;

/** Shows the beginning, and the rest on demand, so that a list of such texts stays short. */
export function LongProse({ text, of }: { readonly text: string; readonly of: string }) {
  const [isWhole, setWhole] = useState(false);
  const beginning = text.split("\n").slice(0, MOST_LINES).join("\n").slice(0, MOST_CHARS);
  if (isWhole || beginning.length === text.length) return <Prose>{text}</Prose>;
  return (
    <div>
      <Prose>{`${beginning.trimEnd()} …`}</Prose>
      <Button label={t("parts.show-all-of", { of })} onPress={() => setWhole(true)}>
        {t("parts.show-all")}
      </Button>
    </div>
  );
}

/** The same for Markdown. It is cut between lines, so that the visible part parses correctly. */
export function LongMarkdown({ text, of }: { readonly text: string; readonly of: string }) {
  const [isWhole, setWhole] = useState(false);
  const beginning = text
    .slice(0, MOST_CHARS * 2)
    .split("\n")
    .slice(0, MOST_LINES * 2)
    .join("\n");
  if (isWhole || beginning.length === text.length) return <Markdown text={text} />;
  return (
    <div>
      <Markdown text={`${beginning.trimEnd()} …`} />
      <Button label={t("parts.show-all-of", { of })} onPress={() => setWhole(true)}>
        {t("parts.show-all")}
      </Button>
    </div>
  );
}
