import { helpOf } from "../texts/setting-texts.ts";
import { language } from "../texts/texts.ts";

/** A sentence of the service: English, whatever the page speaks. A screen reader is told so, and nothing around it turns. */
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
