/** Who did or asked for something, as the service says it: in the page's language, and the names in it untouched. */
import { language, rich, t } from "../texts/texts.ts";
import { Name } from "./name.tsx";

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
