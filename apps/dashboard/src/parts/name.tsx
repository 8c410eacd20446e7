/** Somebody else's word. On its own, so that its direction of writing turns nothing around it. */
export const Name = ({ children }: { readonly children: string }) => <bdi class="name">{children}</bdi>;

/** Longer words of others: line breaks stay. */
export const Prose = ({ children }: { readonly children: string }) => (
  <div class="prose" dir="auto">
    {children}
  </div>
);
