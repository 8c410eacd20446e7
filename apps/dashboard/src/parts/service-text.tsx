import { helpOf } from "../texts/setting-texts.ts";
import { language } from "../texts/texts.ts";

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
