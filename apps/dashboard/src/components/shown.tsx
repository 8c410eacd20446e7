/** Results of requests: data, the pages of a list, errors. */
import type { ComponentChildren } from "preact";
import type { ApiError } from "../client/api.ts";
import type { Loaded } from "../state/reader.ts";
import type { Paged } from "../state/use-reader.ts";
import { isMessage, language, rich, t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { Name, ServiceText } from "./text.tsx";

interface ShownProps<Data> {
  readonly read: Loaded<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** Renders data once it is read, and the error of the last read. Older data stays visible. */
export function Shown<Data>({ read: { data, error }, children }: ShownProps<Data>) {
  if (data === undefined && error === undefined) return <p class="reading">{t("common.loading")}</p>;
  return (
    <>
      <Problem error={error} what={data === undefined ? "" : t("common.this-may-be-out-of")} />
      {data === undefined ? null : children(data)}
    </>
  );
}

/** Draws nothing if one page holds everything. */
export function Pager({ older, newer, label }: Paged & { readonly label: string }) {
  if (older === undefined && newer === undefined) return null;
  const nothing = (): void => {};
  return (
    <nav class="pager" aria-label={label}>
      <Button onPress={newer ?? nothing} disabled={newer === undefined}>
        {t("parts.newer")}
      </Button>
      <Button onPress={older ?? nothing} disabled={older === undefined}>
        {t("parts.older")}
      </Button>
    </nav>
  );
}

/** An error: message, the provider's own words, fix, and the documented code. */
export function Problem({ error, what }: { readonly error: ApiError | undefined; readonly what?: string }) {
  if (error === undefined) return null;
  const { code, retryAfterSecs, fields } = error;
  const { said, fix } = fields;
  return (
    <div class="problem" role="alert">
      <p>
        {what === undefined ? "" : `${what} `}
        <ErrorText error={error} /> <code>{code}</code>
        {retryAfterSecs === undefined || typeof fix === "string"
          ? ""
          : ` ${t("parts.try-again-in-s", { n: retryAfterSecs })}`}
      </p>
      {typeof said === "string" && <p>{rich("common.the-provider-says", { said: <q dir="auto">{said}</q> })}</p>}
      {typeof fix === "string" && (
        <p>
          <strong>{t("common.fix")}</strong> <ServiceText>{fix}</ServiceText>
        </p>
      )}
    </div>
  );
}

/** English shows the daemon's message, which says more than its code; other languages show the translated code. */
export function ErrorText({ error: { code, message, isOwn } }: { readonly error: ApiError }) {
  if (isOwn) return <Name>{message}</Name>;
  const key = `error.${code}`;
  if (language() !== "en" && isMessage(key)) return <>{t(key)}</>;
  return <ServiceText>{message}</ServiceText>;
}
