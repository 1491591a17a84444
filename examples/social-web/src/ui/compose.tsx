// Writing a post.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { type PostCreate } from '../generated/social';
import { tellOfPost } from '../lib/bus';
import { api } from '../lib/session';
import { mentionsOf, pictureUrl, tagsOf } from '../lib/text';
import { fieldErrors } from '../lib/errors';
import { checkPicture, dataUrlOf, PICTURE_TYPES } from '../lib/uploads';
import { Field, FileField, Problem, type Upload, useAction, useWriteKey } from './controls';

type Visibility = NonNullable<PostCreate['visibility']>;

const CONTENT_MOST = 5000;

export function Compose({ onDone }: { onDone?: () => void }) {
  const [content, setContent] = useState('');
  const [picture, setPicture] = useState('');
  const [file, setFile] = useState<Upload>();
  const [withPicture, setWithPicture] = useState(false);
  const [visibility, setVisibility] = useState<Visibility>('public');
  const { busy, error, act } = useAction();
  const upload = useAction();
  const url = pictureUrl(picture.trim());
  const [count, setCount] = useState(0); // of posts: the same text may be posted twice
  const key = useWriteKey(content, url, file?.id, visibility, count);
  const isWrong = picture.trim() !== '' && !url;
  // A post without the picture that was chosen for it is not what was meant.
  const isWaiting = upload.busy || (withPicture && upload.error !== undefined);

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
        if (content.trim() && !isWrong && !isWaiting) void act(send);
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
            accept={PICTURE_TYPES.join(',')}
            file={file}
            busy={busy || upload.busy}
            error={upload.error}
            onRemove={() => setFile(undefined)}
            onFile={(chosen) =>
              void upload.act(async () => {
                setFile(undefined);
                checkPicture(chosen);
                const preview = await dataUrlOf(chosen);
                setFile({ id: await api.uploadNewPostPicture(chosen), name: chosen.name, preview });
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
          disabled={busy || upload.busy}
          onClick={() => {
            setWithPicture(!withPicture);
            setPicture('');
            setFile(undefined);
            void upload.act(async () => undefined); // what went wrong is over
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
        <button
          type="submit"
          class="button button-primary push"
          disabled={busy || !content.trim() || isWrong || isWaiting}
        >
          {busy ? 'Posting…' : 'Post'}
        </button>
      </div>
    </form>
  );
}
