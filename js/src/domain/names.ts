// The names of a nest's statements: dragged onto another nest they merge the two, and buttons split them off.

import { CROWD } from './choice';
import { drawn } from '../plot/scene';
import type { Look } from '../plot/scene';
import { button, h } from '../tools/dom';
import { glyph, role } from '../tools/palette';
import type { Nest } from '../state/messages';
import type { State } from '../state/state';

const MERGE = 'drag this name onto another nest to merge the two';

/** A name for each statement, with its mark and its dims; of many only the names. */
export function names(state: State, nest: Nest, look: Look): HTMLElement {
  const { data } = state;
  const axes = [look.x, look.y].filter(Boolean).join(', ');
  const many = nest.statements.length > CROWD;
  const tips = data.domain.nests.length > 1 ? [MERGE] : [];
  const chips = nest.statements.map((n) => {
    const own = data.domain.statements[n];
    const absent = !drawn(data, look, n);
    return h(
      'span',
      {
        class: `chip ${role(own.number)}${absent ? ' absent' : ''}`,
        draggable: 'true',
        title: [`${many || absent ? `${own.name}(${own.dims.join(', ')}): ` : ''}${own.does}`, ...tips].join('\n'),
        'data-statement': own.name,
        contextmenu: (event: MouseEvent) => state.openMenu({ statement: own.name }, event, event.currentTarget as HTMLElement),
        dragstart: (event: DragEvent) => event.dataTransfer?.setData('text/plain', `nest:${own.name}`),
        mouseenter: () => state.hover({ statement: own.name }),
        mouseleave: () => state.hover(null),
      },
      glyph(own.number),
      ` ${own.name}${many || absent ? '' : `(${own.dims.join(', ')})`}`,
      absent ? h('small', {}, ` not along ${axes}: choose another axis`) : null,
    );
  });
  const rest = (many ? [] : nest.statements.slice(1)).map((n) => data.domain.statements[n].name);
  const apart = rest.map((name) =>
    button(`split ${name} off`, () => void state.gesture('distribute', { statement: name }), {
      class: 'apart',
      title: `a nest of its own for ${name} and what follows it`,
    }),
  );
  return h('div', { class: 'chips' }, ...chips, ...apart);
}

/** A statement dropped here is merged with this nest. */
export function dropping(state: State, nest: Nest) {
  const own = state.data.domain.statements[nest.statements[0]].name;
  return {
    dragover: (event: DragEvent) => event.preventDefault(),
    drop: (event: DragEvent) => {
      event.preventDefault();
      const [what, other] = (event.dataTransfer?.getData('text/plain') ?? '').split(':');
      if (what === 'nest' && other) void state.gesture('merge', { first: other, second: own });
    },
  };
}
