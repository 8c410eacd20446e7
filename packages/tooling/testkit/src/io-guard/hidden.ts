/**
 * What an object holds out of reach of any program, as a debugger sees it: private fields, what a bound function is bound to, and
 * the variables that a function closes over. Those of whole modules are left out: everything that is made shares them, and they
 * are judged by what is written.
 */
import { type Runtime, Session } from "node:inspector";
import type { Hidden } from "../conformance/shared-state.ts";

/** Where this program and its debugger hand each other objects. */
const PLACE = "globalThis[Symbol.for('svc.hidden')]";
const GROUP = "svc.hidden";

export function openHidden(): Hidden & Disposable {
  const session = new Session();
  session.connect();
  const place: { asked?: object; found: unknown[] } = { found: [] };
  Object.defineProperty(globalThis, Symbol.for("svc.hidden"), { value: place, configurable: true });

  const ask = <Answer>(method: string, params: object): Answer => {
    let answer: Answer | undefined;
    // Within one thread it answers before it returns.
    session.post(method as "Runtime.evaluate", params as never, (error, result) => {
      if (error) throw error;
      answer = result as Answer;
    });
    return answer as Answer;
  };
  const idOf = (value: object): string => {
    place.asked = value;
    const { result } = ask<Runtime.EvaluateReturnType>("Runtime.evaluate", {
      expression: `${PLACE}.asked`,
      objectGroup: GROUP,
    });
    return result.objectId as string;
  };
  const propertiesOf = (objectId: string): Properties =>
    ask<Properties>("Runtime.getProperties", { objectId, ownProperties: true });
  const fetch = (objectId: string): unknown => {
    ask("Runtime.callFunctionOn", { objectId, functionDeclaration: `function () { ${PLACE}.found.push(this); }` });
    return place.found.pop();
  };
  const named = ({ name, value }: Property): (readonly [string, unknown])[] =>
    value?.objectId === undefined ? [] : [[name, fetch(value.objectId)]];
  const scopesIn = (list: Property): (readonly [string, unknown])[] =>
    propertiesOf(list.value?.objectId as string)
      .result.filter(({ value }) => /^(?:Closure|Block|Catch|With)\b/.test(value?.description ?? ""))
      .flatMap(({ value }) => propertiesOf(value?.objectId as string).result.flatMap(named));

  const hidden = (value: object): (readonly [string, unknown])[] => {
    const { internalProperties = [], privateProperties = [] } = propertiesOf(idOf(value));
    const found = [
      ...privateProperties.flatMap(named),
      ...internalProperties.flatMap((property) =>
        property.name === "[[Scopes]]"
          ? scopesIn(property)
          : /^\[\[(?:Bound|Target)/.test(property.name)
            ? named(property)
            : [],
      ),
    ];
    ask("Runtime.releaseObjectGroup", { objectGroup: GROUP });
    return found;
  };
  const close = (): void => {
    session.disconnect();
    Reflect.deleteProperty(globalThis, Symbol.for("svc.hidden"));
  };
  return Object.assign(hidden, { [Symbol.dispose]: close });
}

interface Property {
  readonly name: string;
  readonly value?: Runtime.RemoteObject;
}

interface Properties {
  readonly result: readonly Property[];
  readonly internalProperties?: readonly Property[];
  readonly privateProperties?: readonly Property[];
}
