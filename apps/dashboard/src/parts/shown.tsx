/** What was read, or why there is nothing of it. What was read before stays on the page while reading fails. */
import type { ComponentChildren } from "preact";
import type { Loaded } from "../state/reader.ts";
import { Problem } from "./problem.tsx";
import { t } from "../texts/texts.ts";

interface Props<Data> {
  readonly read: Loaded<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

export function Shown<Data>({ read: { data, error }, children }: Props<Data>) {
  if (data === undefined && error === undefined) return <p class="reading">{t("common.loading")}</p>;
  return (
    <>
      <Problem error={error} what={data === undefined ? "" : t("common.this-may-be-out-of")} />
      {data === undefined ? null : children(data)}
    </>
  );
}
