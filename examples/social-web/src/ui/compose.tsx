// Writing a post.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { type PostCreate } from '../generated/social';
import { tellOfPost } from '../lib/bus';
import { api } from '../lib/session';
import { mentionsOf, pictureUrl, tagsOf } from '../lib/text';
import { Field, FileField, Problem, useAction, useWriteKey } from './controls';
import { fieldErrors } from '../lib/errors';

type Visibility = NonNullable<PostCreate['visibility']>;

const CONTENT_MOST = 5000;
const PICTURE_TYPES = 'image/jpeg,image/png,image/webp,image/gif';

export function Compose({ onDone }: { onDone?: () => void }) {
  const [content, setContent] = useState('');
  const [picture, setPicture] = useState('');
  const [file, setFile] = useState<{ id: string; name: string }>();
  const [withPicture, setWithPicture] = useState(false);
  const [visibility, setVisibility] = useState<Visibility>('public');
  const { busy, error, act } = useAction();
  const url = pictureUrl(picture.trim());
  const [count, setCount] = useState(0); // of posts: the same text may be posted twice
  const key = useWriteKey(content, url, file?.id, visibility, count);
  const isWrong = picture.trim() !== '' && !url;

  const send = async () => {
    const hashtags = tagsOf(content);
    const mentions = mentionsOf(content);
    const post = await api.createPost(
      {
        content: content.trim(),
        visibility,
        ...((url || file) && { content_type: 'image' }),
        ...(url && { media_urls: [url] }),
        ...(file && { picture: file.id }),
        ...(hashtags.length && { hashtags }),
        ...(mentions.length && { mentions }),
      },
      key,
    );
    setCount(count + 1);
    tellOfPost({ kind: 'added', item: post });
    setContent('');
    setPicture('');
    setFile(undefined);
    setWithPicture(false);
    onDone?.();
  };

  return (
    <form
      class="card compose"
      aria-label="New post"
      onSubmit={(event) => {
        event.preventDefault();
        if (content.trim() && !isWrong) void act(send);
      }}
    >
      <Field
        label="What is new?"
        name="content"
        rows={2}
        value={content}
        onValue={setContent}
        error={error}
        maxLength={CONTENT_MOST}
      />
      {withPicture && (
        <>
          <FileField
            label="A picture from this device"
            accept={PICTURE_TYPES}
            chosen={file?.name}
            busy={busy}
            onFile={(chosen) =>
              void act(async () => {
                setFile(undefined);
                setFile({ id: await api.uploadNewPostPicture(chosen), name: chosen.name });
              })
            }
          />
          <Field
            label="Address of a picture"
            name="media_urls"
            value={picture}
            onValue={setPicture}
            error={error}
            hint="It begins with https:// and stays where it is; only its address is kept."
            input={{ type: 'url', inputMode: 'url', placeholder: 'https://…', autoComplete: 'off' }}
          />
          {isWrong && <p class="field-wrong">The address of a picture begins with https://</p>}
          {url && <img class="picture" src={url} alt="Preview of the picture" />}
        </>
      )}
      {error !== undefined && !fieldErrors(error)['content'] && <Problem error={error} />}
      <div class="row">
        <button
          type="button"
          class="button"
          aria-expanded={withPicture}
          onClick={() => {
            setWithPicture(!withPicture);
            setPicture('');
            setFile(undefined);
          }}
        >
          {withPicture ? 'No picture' : 'Add a picture'}
        </button>
        <label class="select-label">
          <span class="visually-hidden">For whom</span>
          <select
            class="input"
            value={visibility}
            onChange={(event) => setVisibility(event.currentTarget.value as Visibility)}
          >
            <option value="public">For everyone</option>
            <option value="followers">For followers</option>
            <option value="private">Only for me</option>
          </select>
        </label>
        <button type="submit" class="button button-primary push" disabled={busy || !content.trim() || isWrong}>
          {busy ? 'Posting…' : 'Post'}
        </button>
      </div>
    </form>
  );
}
