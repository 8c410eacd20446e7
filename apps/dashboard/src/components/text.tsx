/** Texts that the page did not write: of people, of the daemon, of the config schema. */
import { helpOf } from "../texts/setting-texts.ts";
import { language, rich, t } from "../texts/texts.ts";

/** Text from another person. Isolated, so that its writing direction does not change the text around it. */
export const Name = ({ children }: { readonly children: string }) => <bdi class="name">{children}</bdi>;

/** The same for longer text; line breaks stay. */
export const Prose = ({ children }: { readonly children: string }) => (
  <div class="prose" dir="auto">
    {children}
  </div>
);

/** Text from the service. It is always English: `lang` tells screen readers, and `bdi` keeps its direction to itself. */
export function ServiceText({ children }: { readonly children: string | null | undefined }) {
  if (children === undefined || children === null || children === "") return null;
  return (
    <bdi class="name" lang={language() === "en" ? undefined : "en"}>
      {children}
    </bdi>
  );
}

/** A sentence of the config's schema, in the page's language where it has it. */
export function HelpText({ children = "" }: { readonly children: string | undefined }) {
  const text = helpOf(children);
  return text === undefined ? <ServiceText>{children}</ServiceText> : <>{text}</>;
}

/** The actor of a change or request, translated from the daemon's English; names stay unchanged. */
export function Actor({ children: said }: { readonly children: string }) {
  if (language() === "en") return <Name>{said}</Name>;
  if (said === "a program on this machine") return <>{t("actor.a-program-on-this-machine")}</>;
  for (const [pattern, key] of FORMS) {
    const name = pattern.exec(said)?.[1];
    if (name !== undefined) return <>{rich(key, { name: <Name>{name}</Name> })}</>;
  }
  return <Name>{said}</Name>;
}

const FORMS = [
  [/^device (.+)$/su, "actor.device"],
  [/^procedure (.+)$/su, "actor.procedure"],
  [/^the agent, for (.+)$/su, "actor.agent-for"],
  [/^the agent, in conversation (.+)$/su, "actor.agent-in"],
] as const;

/**
 * Text with only visible characters. People approve a command by its look, so characters that change the direction, draw nothing,
 * or move other characters must not hide in it. Line breaks and tabs stay.
 */
export const visible = (text: string): string =>
  text.replaceAll(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
