/** What the address asks for. */
import { Heading } from "../parts/heading.tsx";
import { hrefOf, type Route } from "../route/route.ts";
import { useMayOperate } from "../session/use-device.ts";
import { viewOf } from "./places.tsx";
import { t } from "../texts/texts.ts";

export function View({ route: { view, id } }: { readonly route: Route }) {
  const mayOperate = useMayOperate();
  const place = viewOf(view);
  if (place?.forOperators === true && !mayOperate) return <NotForReaders />;
  if (id !== undefined && place?.Detail) return <place.Detail id={id} />;
  if (id === undefined && place?.List) return <place.List />;
  return (
    <>
      <Heading title={t("shell.nothing-is-here")} />
      <p>
        <a href={hrefOf("")}>{t("common.all-conversations")}</a>
      </p>
    </>
  );
}

const NotForReaders = () => (
  <>
    <Heading title={t("shell.not-for-this-device")} />
    <p>{t("shell.this-device-may-read-only")}</p>
  </>
);
