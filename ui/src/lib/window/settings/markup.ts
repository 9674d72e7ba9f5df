// The descriptions of settings, which come from the document of the settings file: code and emphasis as Markdown has them.

/** A piece of a description. */
export interface Piece {
  text: string;
  kind: 'plain' | 'code' | 'emphasis';
}

/** The pieces of a description, in order. A mark without its other half is text. */
export function piecesOf(description: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  const add = (text: string, kind: Piece['kind']) => {
    if (text !== '') pieces.push({ text, kind });
  };
  for (const { 0: whole, 1: code, 2: emphasis, index } of description.matchAll(/`([^`]+)`|\*([^*\s][^*]*)\*/g)) {
    add(description.slice(end, index), 'plain');
    if (code !== undefined) add(code, 'code');
    else if (emphasis !== undefined) add(emphasis, 'emphasis');
    end = index + whole.length;
  }
  add(description.slice(end), 'plain');
  return pieces;
}

/** A description without the form of an entry in the file, for a list that the page can edit. */
export const withoutForm = (description: string): string => description.split(/ Each (?:\w+ )?is `/)[0] ?? description;
