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
