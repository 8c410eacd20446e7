/** What the address asks for. */
import { Heading } from "../parts/heading.tsx";
import { hrefOf, type Route } from "../route/route.ts";
import { useMayOperate } from "../session/use-device.ts";
import { viewOf } from "./places.tsx";

export function View({ route: { view, id } }: { readonly route: Route }) {
  const mayOperate = useMayOperate();
  const place = viewOf(view);
  if (place?.forOperators === true && !mayOperate) return <NotForReaders />;
  if (id !== undefined && place?.Detail) return <place.Detail id={id} />;
  if (id === undefined && place?.List) return <place.List />;
  return (
    <>
      <Heading title="Nothing is here" />
      <p>
        <a href={hrefOf("")}>All conversations</a>
      </p>
    </>
  );
}

const NotForReaders = () => (
  <>
    <Heading title="Not for this device" />
    <p>This device may read only. An operator's device sees this.</p>
  </>
);
