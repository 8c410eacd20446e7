import type { ApiError } from "../api/api-error.ts";
import { isMessage, language, rich, t } from "../texts/texts.ts";
import { Name } from "./name.tsx";
import { ServiceText } from "./service-text.tsx";

/** What went wrong, what the other side said of it, what to do, and the code that the documentation explains. */
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

/** The service's sentence says more than its code does; in another language the code is what can be read. */
export function ErrorText({ error: { code, message, isOwn } }: { readonly error: ApiError }) {
  if (isOwn) return <Name>{message}</Name>;
  const key = `error.${code}`;
  if (language() !== "en" && isMessage(key)) return <>{t(key)}</>;
  return <ServiceText>{message}</ServiceText>;
}
